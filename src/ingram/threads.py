"""Thread settings that must be made before torch is loaded.

GNU OpenMP, which runs torch's matrix products, keeps its idle threads spinning for milliseconds
after each product. The compiled loops run on threads of their own and would fight the spinning
ones for the cores: a training step takes half as long again. A short spin costs the products
nothing. A value set by the user stands.
"""

import os

os.environ.setdefault("GOMP_SPINCOUNT", "10000")
