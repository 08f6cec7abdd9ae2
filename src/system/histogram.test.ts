import { expect, test } from 'vitest';
import { Histogram } from './histogram.ts';

test('counts each value in every bucket that it fits, by labels', () => {
  const histogram = new Histogram({
    name: 'took_seconds',
    help: 'How long it took.',
    labelNames: ['verb', 'status'],
    bounds: [0.5, 1],
  });
  const gets = histogram.labels('get', 200);
  for (const seconds of [0.25, 0.5, 0.75, 2]) gets.observe(seconds);
  histogram.labels('get', 200).observe(1);
  histogram.labels('a "b"\\\n', 500).observe(4);
  expect(histogram.text()).toBe(`# HELP took_seconds How long it took.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.5",verb="get",status="200"} 2
took_seconds_bucket{le="1",verb="get",status="200"} 4
took_seconds_bucket{le="+Inf",verb="get",status="200"} 5
took_seconds_sum{verb="get",status="200"} 4.5
took_seconds_count{verb="get",status="200"} 5
took_seconds_bucket{le="0.5",verb="a \\"b\\"\\\\\\n",status="500"} 0
took_seconds_bucket{le="1",verb="a \\"b\\"\\\\\\n",status="500"} 0
took_seconds_bucket{le="+Inf",verb="a \\"b\\"\\\\\\n",status="500"} 1
took_seconds_sum{verb="a \\"b\\"\\\\\\n",status="500"} 4
took_seconds_count{verb="a \\"b\\"\\\\\\n",status="500"} 1
`);
});
