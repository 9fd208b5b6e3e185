"""What a hook's author works with: a first folder that works, and cases that say what it must do."""
