"""`tenterhook inbox`: a person's side of the hub, in a terminal."""
