#!/bin/sh
# Six steps, each noted in the checkpoint; the first attempt is killed after the third.
checkpoint=$MUSTER_CHECKPOINT_DIR/step
step=$(cat "$checkpoint" 2>/dev/null || echo 0)
echo "attempt $MUSTER_ATTEMPT begins after step $step"
while [ "$step" -lt 6 ]; do
	step=$((step + 1))
	echo "step $step"
	echo "$step" >"$checkpoint.new" && mv "$checkpoint.new" "$checkpoint"
	if [ "$step" = 3 ] && [ "$MUSTER_ATTEMPT" = 1 ]; then
		kill -9 $$
	fi
done
