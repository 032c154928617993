"""Workers as jobs of SLURM, by dask-jobqueue (`pip install dask-jobqueue atomsieve[dask]` on a login node).

    python slurm.py --script                                          the script of a job, for a look at it
    python slurm.py '/scratch/table/*.parquet' target certificate.json

A job that ends, or that is taken away, is a worker that is lost: its chunks are read again from their files.
"""

import sys

from dask_jobqueue import SLURMCluster
from distributed import Client
from fit import fit

JOBS = 8


def cluster():
    """Return a cluster whose jobs have 8 cores and 64 GB each."""
    return SLURMCluster(
        queue="normal",
        cores=8,
        processes=1,
        memory="64GB",
        walltime="02:00:00",
        local_directory="/tmp",  # noqa: S108 -- where chunks go that do not fit into memory
        job_script_prologue=["export OPENBLAS_NUM_THREADS=1"],
    )


def main():
    """Print the script of a job, or fit."""
    if sys.argv[1:] == ["--script"]:
        print(cluster().job_script())
        return
    source, target, file = sys.argv[1:]
    with cluster() as jobs, Client(jobs) as client:
        jobs.scale(jobs=JOBS)
        client.wait_for_workers(1)
        result = fit(source, target)
        print(result)
        result.certificate().save(file)


if __name__ == "__main__":
    main()
