/** A chart as the page shows it: a file beside it. */
import { type LineChart, lineChart } from './chart.ts';

export type ChartName = 'lateness' | 'burst' | 'stored-throughput' | 'stored-lateness';

export interface ChartFile {
  readonly name: ChartName;
  /** From the page. */
  readonly file: string;
  readonly title: string;
  readonly svg: string;
}

export function chartFile(name: ChartName, chart: LineChart): ChartFile {
  return { name, file: `benchmarks/${name}.svg`, title: chart.title, svg: lineChart(chart) };
}
