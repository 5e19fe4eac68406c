"""python -m benchmarks"""

import playground  # noqa: F401  (first: it says how torch's threads are to wait, which must be known before torch is loaded)
from benchmarks.suite import main

if __name__ == "__main__":
    raise SystemExit(main())
