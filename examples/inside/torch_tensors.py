"""
PyTorch tensors stay where they are
===================================

``Problem`` takes tensors on any device. X, predictions and targets stay there, and the working set comes to the host
as a Gram matrix. The certificate is the same, and anyone can check it with a NumPy copy.
"""

import torch

from atomsieve import Linear, Logistic, Problem, solve, verify

device = "cuda" if torch.cuda.is_available() else "cpu"
X = torch.randn(20_000, 500, device=device)  # float32 is used as it is
y = torch.where(X[:, 0] - X[:, 1] + torch.randn(20_000, device=device) > 0, 1.0, -1.0)
result = solve(Problem(X, y, loss=Logistic(), penalty=Linear(0.01), intercept=True))
print(result.certificate())
print(verify(result.certificate(), X.cpu().numpy(), y.cpu().numpy()))
