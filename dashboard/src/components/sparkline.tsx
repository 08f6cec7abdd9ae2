/** A small chart of a figure over time, without axes. */
import { highestStack, linePath } from '../chart-geometry.ts';

const WIDTH = 120;
const HEIGHT = 32;
const FRAME = { width: WIDTH, height: HEIGHT, left: 0, top: 2, bottom: 2 };

export function Sparkline({
  values,
  className,
}: {
  readonly values: readonly number[];
  readonly className: string;
}) {
  const end = Math.max(1, highestStack([values]));
  const path = linePath(values, end, 'linear', FRAME);
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      class={`h-8 w-full ${className}`}
    >
      <path d={`${path}V${HEIGHT}H0z`} class="fill-current opacity-12" />
      <path
        d={path}
        fill="none"
        class="stroke-current"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
        stroke-linejoin="round"
      />
    </svg>
  );
}
