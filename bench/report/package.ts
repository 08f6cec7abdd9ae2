/** The table and the bars of the package that users install. */
import type { Results } from '../results.ts';
import type { Bar } from './bar.ts';
import { medianOf, spread, whole } from './figures.ts';
import { table } from './markdown.ts';

const VERSION_MS_MAX = 150;
const DEV_MS_MAX = 1_500;
const BYTES_PER_MB = 1_000_000;

export function packageTables({ package: measured }: Results): readonly string[] {
  if (measured === null) return [];
  const { tarballBytes, installedBytes, runtimeBytes, installs, starts } = measured;
  const same = (ms: number) => ms;
  return [
    table(
      ['size in MB', ''],
      [
        ['the package, packed', megabytes(tarballBytes)],
        ['installed without the runtime', megabytes(installedBytes)],
        ['installed with the runtime', megabytes(installedBytes + runtimeBytes)],
      ],
    ),
    table(
      ['ms', 'from the package', 'from the checkout'],
      [
        ['`npm install`, nothing cached', spread(installs, ({ coldMs }) => coldMs, whole), ''],
        ['`npm install`, cached', spread(installs, ({ warmMs }) => warmMs, whole), ''],
        ...(['versionMs', 'devMs'] as const).map((what) => [
          what === 'versionMs' ? '`sched --version`' : '`sched dev` listens',
          spread(starts.package[what], same, whole),
          spread(starts.checkout[what], same, whole),
        ]),
      ],
    ),
  ];
}

function megabytes(bytes: number): string {
  return (bytes / BYTES_PER_MB).toFixed(1);
}

export function packageBars({ package: measured }: Results): readonly Bar[] {
  const { versionMs, devMs } = measured?.starts.package ?? { versionMs: [], devMs: [] };
  return [
    within('sched --version within 150 ms', versionMs, VERSION_MS_MAX),
    within('sched dev listens within 1.5 s', devMs, DEV_MS_MAX),
  ];
}

function within(asked: string, times: readonly number[], msMax: number): Bar {
  const work = 'the installed package';
  const ms = medianOf(times);
  if (ms === null) return { work, asked, measured: 'not measured', verdict: 'not measured' };
  return { work, asked, measured: `${whole(ms)} ms`, verdict: ms <= msMax ? 'met' : 'missed' };
}
