@_exported import Skein
