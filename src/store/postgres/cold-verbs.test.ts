/**
 * Verbs of two nodes at the same moment. The test holds up every write of a table until both transactions wait, so
 * both have passed a check that does not lock.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createJob, type ReplayJob } from '#src/domain/replay-job.ts';
import type { EndpointSecret } from '#src/ports/control-store.ts';
import { openedIn } from '#test/postgres/contract-databases.ts';
import { createDatabase, type TestDatabase } from '#test/postgres/databases.ts';
import { sharedPostgres } from '#test/postgres/shared.ts';
import { addCondition, newIncident } from '#test/store-contract/alert-builders.ts';
import { START } from '#test/store-contract/builders.ts';
import { type AnyStore, type Fixture, type Opened, Suite } from '#test/store-contract/fixture.ts';
import { PeopleFixture } from '#test/store-contract/people-fixture.ts';

const WAITING = `SELECT count(*) AS waiting FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let database: TestDatabase;
let blocker: Client;
let second: Opened;
const suite = new Suite(async () => openedIn(database));
const people = new PeopleFixture(suite);

beforeAll(async () => {
  database = await createDatabase(await sharedPostgres());
  await suite.start();
  second = await openedIn(database);
  blocker = new Client({ connectionString: database.url });
  await blocker.connect();
});
afterAll(async () => {
  await blocker.end();
  await second.store.close();
  await suite.stop();
});

const writesOf = (table: string) => `LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`;

/** Runs a verb on both nodes. Nothing writes to the table until both wait. */
function onBothNodes<A>(
  table: string,
  act: (store: AnyStore, node: 0 | 1) => Promise<A>,
): Promise<readonly A[]> {
  return blocked(writesOf(table), [() => act(suite.store, 0), () => act(second.store, 1)]);
}

/** Runs all acts while another transaction has the lock, until all of them wait. */
async function blocked<A>(
  lock: string,
  acts: readonly (() => Promise<A>)[],
  whenAllWait = async (): Promise<void> => {},
): Promise<readonly A[]> {
  await blocker.query(`BEGIN; ${lock}`);
  const acting = Promise.all(acts.map((act) => act()));
  try {
    await vi.waitFor(
      async () => {
        const { rows } = await blocker.query<{ readonly waiting: string }>(WAITING);
        expect(Number(rows[0]?.waiting)).toBe(acts.length);
      },
      { timeout: 30_000, interval: 10 },
    );
    await whenAllWait();
  } finally {
    await blocker.query('COMMIT');
  }
  return acting;
}

/** The number of rows that no transaction has locked. */
async function free(rows: string): Promise<number | null> {
  return (await blocker.query(`SELECT FROM ${rows} FOR NO KEY UPDATE SKIP LOCKED`)).rowCount;
}

test.for(['removed', 'demoted', 'removed and demoted'])(
  'of two admins that are %s, one stays',
  async (how) => {
    const admins = [await people.addUser(), await people.addUser()] as const;
    for (const user of await people.people.listUsers()) {
      if (!admins.some(({ id }) => id === user.id)) await people.people.removeUser(user);
    }
    const answers = await onBothNodes('users', ({ people: store }, node) => {
      const user = admins[node];
      return how === 'removed' || (how !== 'demoted' && node === 0)
        ? store.removeUser(user)
        : store.replaceUser({ ...user, role: 'viewer', revision: 2 }, null);
    });
    expect(answers.toSorted()).toEqual(['done', 'last_admin']);
  },
);

test('an invitation is used once', async () => {
  const { hash } = await people.addInvitation();
  const answers = await onBothNodes('invitations', (store) =>
    store.people.acceptInvitation(hash, people.user()),
  );
  expect(answers.toSorted()).toEqual(['done', 'missing']);
});

test('a name is given once', async () => {
  const invitations = [await people.addInvitation(), await people.addInvitation()] as const;
  const { name } = people.user();
  const answers = await onBothNodes('users', (store, node) =>
    store.people.acceptInvitation(invitations[node].hash, people.user({ name })),
  );
  expect(answers.toSorted()).toEqual(['done', 'taken']);
});

test('a user does not change while a session is added', async () => {
  const user = await people.addUser();
  const add = () => suite.store.people.addSession(people.session(user), user.passwordHash, null);
  await blocked(writesOf('sessions'), [add], async () => {
    expect(await free(`users WHERE id = '${user.id}'`)).toBe(0);
  });
});

test('failed logins are counted once', async () => {
  const answers = await onBothNodes('failure_counts', (store) =>
    store.people.replaceFailureCounts([
      { subject: 'a', failures: 1, lastAt: START, was: null },
      { subject: 'b', failures: 1, lastAt: START, was: null },
    ]),
  );
  expect(answers.toSorted()).toEqual(['done', 'stale']);
});

test('a replay job is not added beside one that is unknown', async () => {
  const fixture = await suite.fixture();
  const jobs = [newJob(fixture), newJob(fixture)] as const;
  const answers = await onBothNodes('replay_jobs', (store, node) => store.jobs.addJob(jobs[node], []));
  expect(answers.toSorted()).toEqual(['done', 'stale']);
});

test('an incident begins once', async () => {
  const fixture = await suite.fixture();
  const condition = await addCondition(fixture);
  const answers = await onBothNodes('alert_incidents', (store) =>
    store.alerts.addIncident({ condition, incident: newIncident(fixture, condition, null), messages: [] }),
  );
  expect(answers.toSorted()).toEqual(['done', 'stale']);
});

test('an incident does not begin after its condition was removed', async () => {
  const fixture = await suite.fixture();
  const condition = await addCondition(fixture);
  const incident = newIncident(fixture, condition, null);
  const begun = () => suite.store.alerts.addIncident({ condition, incident, messages: [] });
  await blocked(writesOf('alert_incidents'), [begun], async () => {
    expect(await free(`alert_conditions WHERE id = '${condition.id}'`)).toBe(0);
  });
  expect(await second.store.alerts.removeCondition(condition, fixture.now)).toBe('done');
  expect(await suite.store.alerts.listOpenIncidents(fixture.partition)).toEqual([]);
  expect(await begun()).toBe('stale');
});

test('an endpoint profile gets one secret', async () => {
  const fixture = await suite.fixture();
  const { id: endpointId } = await fixture.addProfile();
  const { partition } = fixture;
  const answers = await onBothNodes('endpoint_secrets', (store) =>
    store.changeEndpointSecrets({
      partition,
      endpointId,
      before: [],
      ended: [],
      added: newSecret(fixture, endpointId),
    }),
  );
  expect(answers.toSorted()).toEqual(['done', 'stale']);
});

test('a project name is given once, and a key is added once', async () => {
  const fixture = await suite.fixture();
  const name = 'twice';
  const projects = await onBothNodes('projects', (store) =>
    store.addProject({
      id: fixture.ids.mint('prj', START),
      name,
      pinnedVersion: fixture.project.pinnedVersion,
      createdAt: START,
    }),
  );
  expect(projects.filter((answer) => answer === 'taken')).toHaveLength(1);
  const key = {
    partition: fixture.partition,
    mode: 'test' as const,
    hash: 'same',
    hint: 'sam',
    createdAt: START,
    lastUsedAt: null,
    revokedAt: null,
  };
  const keys = await onBothNodes('api_keys', (store) =>
    store.addKey({ ...key, id: fixture.ids.mint('key', START) }),
  );
  expect(keys.toSorted()).toEqual(['done', 'taken']);
});

test('the keys of a list of uses are locked in the same order by every node', async () => {
  const { partition, ids } = await suite.fixture();
  const hashes = ['use-1', 'use-2'];
  for (const hash of hashes) {
    const terms = { hint: '', createdAt: START, lastUsedAt: null, revokedAt: null };
    await suite.store.addKey({ id: ids.mint('key', START), partition, mode: 'test', hash, ...terms });
  }
  const uses = hashes.map((hash) => ({ hash, at: START }));
  const acts = [() => suite.store.touchKeys(uses), () => second.store.touchKeys(uses.toReversed())];
  await blocked("SELECT FROM api_keys WHERE hash = 'use-1' FOR UPDATE", acts, async () => {
    expect(await free("api_keys WHERE hash = 'use-2'")).toBe(1);
  });
});

function newJob(fixture: Fixture): ReplayJob {
  const filter = {
    status: 'dead_letter',
    scheduleId: null,
    createdAfter: null,
    createdBefore: START,
  } as const;
  const { partition, ids } = fixture;
  return createJob({ partition, id: ids.mint('job', START), filter, expected: 1, createdBy: 'ada' }, START);
}

function newSecret({ partition, ids }: Fixture, endpointId: EndpointSecret['endpointId']): EndpointSecret {
  const id = ids.mint('sec', START);
  const sealed = Uint8Array.of(1);
  return { id, partition, endpointId, sealed, createdAt: START, expiresAt: null, aloneFrom: null };
}
