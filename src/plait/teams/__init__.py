"""The teams strand (Croto): parallel teams that merge their solutions at key phases."""
