/** The charts of the report. What was not measured is not drawn. */
import type { Results } from '../results.ts';
import type { ChartFile } from './chart-file.ts';
import { burstChart, latenessChart } from './contender-charts.ts';
import { storedCharts } from './stored-charts.ts';

export function chartsOf(results: Results): readonly ChartFile[] {
  return [latenessChart(results), burstChart(results), ...storedCharts(results)].filter(
    (chart) => chart !== null,
  );
}
