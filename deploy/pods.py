"""Workers as pods, by the operator of dask-kubernetes (`pip install dask-kubernetes atomsieve[dask]`).

    helm install --repo https://helm.dask.org --generate-name dask-kubernetes-operator
    python pods.py --spec                                          the resource, for a look at it
    python pods.py 's3://bucket/table/*.parquet' target certificate.json

Scheduler, workers and the process that runs this need the same versions of Python, NumPy, dask and atomsieve: build an
image that has them, and name it in IMAGE.
"""

import json
import sys

from dask_kubernetes.operator import KubeCluster, make_cluster_spec
from distributed import Client
from fit import fit

IMAGE, WORKERS = "ghcr.io/dask/dask:latest", 8
RESOURCES = {"requests": {"cpu": "4", "memory": "32Gi"}, "limits": {"memory": "32Gi"}}
ENVIRONMENT = {"EXTRA_PIP_PACKAGES": "atomsieve[dask]", "OPENBLAS_NUM_THREADS": "1"}


def spec():
    """Return the resource of the cluster."""
    return make_cluster_spec(name="atomsieve", image=IMAGE, n_workers=WORKERS, resources=RESOURCES, env=ENVIRONMENT)


def main():
    """Print the resource, or fit."""
    if sys.argv[1:] == ["--spec"]:
        print(json.dumps(spec(), indent=2))
        return
    source, target, file = sys.argv[1:]
    with KubeCluster(custom_cluster_spec=spec()) as cluster, Client(cluster) as client:
        client.wait_for_workers(1)
        result = fit(source, target)
        print(result)
        result.certificate().save(file)


if __name__ == "__main__":
    main()
