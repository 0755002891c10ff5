"""Cases of forwards that once got no answer, by their kind; each with its right answer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # `from loops import ...`
