"""Tests never reach the network: the Hub libraries run offline."""

import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
sys.path.insert(0, str(Path(__file__).parent))  # `from models import ...`
