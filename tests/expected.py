"""`EXPECTED` is expected.toml: what follows the encoder, reviewed with each new one."""

import tomllib
from pathlib import Path

EXPECTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
