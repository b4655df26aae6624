"""How Tenure is reached: every way in, none of which holds a rule."""
