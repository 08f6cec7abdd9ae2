/** `node bench/fill.ts DIRECTORY COUNT`: so many schedules of project `default` that fire in a year. */
import { IdMint } from '#src/domain/id.ts';
import { instant } from '#src/domain/instant.ts';
import { Builders } from '#src/store/contract/builders.ts';
import { SqliteStore } from '#src/store/sqlite/sqlite-store.ts';
import { systemRandom } from '#src/system/random.ts';

const TOGETHER = 1_000;
const YEAR_MS = 365 * 86_400_000;

const [directory = '', count = '0'] = process.argv.slice(2);
const random = systemRandom();
const ids = new IdMint((bytes) => random.bytes(bytes));
const store = await SqliteStore.open({ directory, now: instant(Date.now()), exclusive: true });
const project = await store.findProject('default');
if (project === null) throw new Error('Start the service on the directory once, then fill it.');

const builders = new Builders(project.partitions.test, ids);

for (let made = 0; made < Number(count); ) {
  const additions = Array.from({ length: Math.min(TOGETHER, Number(count) - made) }, () => {
    const now = instant(Date.now());
    made++;
    const fireAt = instant(now + YEAR_MS + made * 10);
    const schedule = builders.schedule({ timing: { kind: 'one_shot', fireAt, timezone: null } });
    return store.addSchedule({ ...schedule, payload: null, profile: null, receipt: null });
  });
  await Promise.all(additions);
}
await store.close();
