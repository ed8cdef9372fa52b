"""Family → Geometry: log-partition, mean map, Fisher metric, entropy, charts.  No losses."""

from blrgen.geometry.geometry import Geometry, geometry_of

__all__ = ["Geometry", "geometry_of"]
