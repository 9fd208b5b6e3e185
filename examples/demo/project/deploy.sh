# Stands for a deployment: all it does is note the version.
echo "$1" > live-version
echo "deployed: version $1 is live"
