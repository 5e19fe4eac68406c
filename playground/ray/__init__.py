"""Training on a Ray cluster. Read in this order: cluster (the engine) · driver (the process that speaks with Ray, and the hosts).

Imported only where RAY_ADDRESS names a cluster; needs `pip install -r playground/ray/requirements.txt`, or the extra "ray".
"""
