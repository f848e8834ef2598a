"""`load_file` of the safetensors package: the length of the header, the header in JSON, then the numbers."""

import json
import struct

import numpy as np

from torch import Tensor

KINDS = {"F64": np.float64, "F32": np.float32, "I64": np.int64}


def load_file(path, device="cpu"):
    data = open(path, "rb").read()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    read = lambda at: np.frombuffer(body[slice(*at["data_offsets"])], KINDS[at["dtype"]]).reshape(at["shape"])
    return {name: Tensor(read(at).copy()) for name, at in header.items() if name != "__metadata__"}
