"""
Change points: the Nile in 1899
===============================

The Nile at Aswan, year by year: how much water came down, in 10⁸ m³, from 1871 to 1970. In one year the level changes,
and stays. Total variation charges for jumps, so its solutions are piecewise constant, and ``ChangePoints`` proves at
which places the level of the optimum jumps, and at which it does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import eye_array

from atomsieve import ChangePoints, Linear, Problem, TotalVariation, solve, verify

FLOW = """
1120 1160  963 1210 1160 1160  813 1230 1370 1140  995  935 1110  994 1020  960 1180  799  958 1140
1100 1210 1150 1250 1260 1220 1030 1100  774  840  874  694  940  833  701  916  692 1020 1050  969
 831  726  456  824  702 1120 1100  832  764  821  768  845  864  862  698  845  744  796 1040  759
 781  865  845  944  984  897  822 1010  771  676  649  846  812  742  801 1040  860  874  848  890
 744  749  838 1050  918  986  797  923  975  815 1020  906  901 1170  912  746  919  718  714  740
"""
flow = np.array(FLOW.split(), dtype=float)
years = np.arange(1871, 1971)

# %%
# A signal is a row. The strength is the price of a jump of 1, beside half of the sum of squares.
model = ChangePoints(strength=1000.0).fit(flow.reshape(1, -1))
segments = model.segments_[0]
print(segments.to_frame().assign(year=years[segments.starts]))
print("proven change:", years[segments.change_points])
print(verify(model.certificates_[0], eye_array(100), flow))

# %%
# These intervals are about the numbers as they are. How the flow was measured is another matter: what if every year may
# be off by 5? The same pieces, and a certificate for all such series at once.
problem = Problem(None, flow, gauge=TotalVariation(), penalty=Linear(1000.0 / 100))
certificate = solve(problem, tol=1e-12).certificate(y_error=5.0)
print(certificate)
levels = certificate.predict(eye_array(100))
frame = certificate.to_frame()
frame = frame[frame["verdict"] != "unpenalised"]["verdict"].to_numpy()  # one row for each place between two years

# %%
fig, ax = plt.subplots(figsize=(9, 4.6), layout="constrained")
ax.plot(years, flow, "o", color="0.65", markersize=4, label="measured")
band = {"step": "mid", "color": "tab:blue", "alpha": 0.3, "linewidth": 0, "label": "level, proven within"}
ax.fill_between(years, levels.lower, levels.upper, **band)
ax.step(years, model.levels_[0], where="mid", color="tab:blue", label="level")
for place in np.flatnonzero(frame == "non-zero"):
    ax.axvline(years[place] + 0.5, color="tab:red", linestyle="--", label=f"proven change, {years[place + 1]}")
colours = {"zero": "tab:green", "undecided": "tab:orange"}
words = {"zero": "proven: no change here", "undecided": "not decided"}
for verdict, colour in colours.items():
    between = years[:-1][frame == verdict] + 0.5
    ax.plot(between, np.full(len(between), 410.0), "|", color=colour, markersize=9, label=words[verdict])
ax.set(
    xlabel="year",
    ylabel="flow of the Nile, 10⁸ m³",
    title="The level falls in 1899, whatever the true flows are within 5 of the measured ones",
)
ax.legend(fontsize="small", ncols=2, loc="upper right")
plt.show()
