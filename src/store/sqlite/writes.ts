/**
 * The verbs that change something, on the one writing connection, in its own thread. Each runs inside a
 * savepoint: one that answers anything but `done`, or throws, leaves nothing behind.
 */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { Instant } from '#src/domain/instant.ts';
import type { Labels } from '#src/domain/labels.ts';
import type { Partition } from '#src/domain/partition.ts';
import type { Profile } from '#src/domain/profile.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type {
  ClaimWrite,
  ProfileWrite,
  Receipt,
  ReplayAddition,
  ScheduleAddition,
  ScheduleReplacement,
  SettleWrite,
  Written,
} from '#src/ports/store.ts';
import type { Db } from './connection.ts';
import {
  labelDigest,
  toAttemptRow,
  toDeliveryRow,
  toProfileHeadRow,
  toProfileVersionRow,
  toScheduleRow,
} from './rows.ts';

/** Thrown to leave a verb: its savepoint is undone and the answer is `answer`. */
class Undone extends Error {
  readonly answer: 'stale' | 'key_taken' | 'in_use';

  constructor(answer: 'stale' | 'key_taken' | 'in_use') {
    super(answer);
    this.answer = answer;
  }
}

export type Writes = ReturnType<typeof prepareWrites>;

export function prepareWrites(db: Db) {
  const statements = prepareStatements(db);

  /** Runs `write` whole or not at all. */
  function whole<A extends string>(write: () => void): A | 'done' {
    statements.savepoint.run();
    try {
      write();
      statements.release.run();
      return 'done';
    } catch (error) {
      // On some errors, a full disk among them, SQLite has already undone the whole transaction.
      if (db.inTransaction) {
        statements.undo.run();
        statements.release.run();
      }
      if (error instanceof Undone) return error.answer as A;
      throw error;
    }
  }

  function must(changes: number): void {
    if (changes !== 1) throw new Undone('stale');
  }

  function insertSchedule(schedule: Schedule): void {
    statements.insertSchedule.run(toScheduleRow(schedule));
    insertLabels(schedule);
  }

  function insertLabels(schedule: Schedule): void {
    for (const [name, value] of schedule.metadata) {
      statements.insertLabel.run(schedule.partition, labelDigest(name, value), schedule.id);
    }
  }

  function deleteLabels(schedule: Schedule, labels: Labels): void {
    for (const [name, value] of labels) {
      statements.deleteLabel.run(schedule.partition, labelDigest(name, value), schedule.id);
    }
  }

  function updateSchedule(schedule: Schedule): void {
    must(statements.updateSchedule.run(toScheduleRow(schedule)).changes);
  }

  function insertDelivery(delivery: Delivery): void {
    statements.insertDelivery.run(toDeliveryRow(delivery));
  }

  function updateDelivery(delivery: Delivery): void {
    must(statements.updateDelivery.run(toDeliveryRow(delivery)).changes);
  }

  function insertAttempt(attempt: Attempt): void {
    statements.insertAttempt.run(toAttemptRow(attempt));
  }

  function closeAttempt(attempt: Attempt): void {
    must(statements.closeAttempt.run(toAttemptRow(attempt)).changes);
  }

  function keep(partition: Partition, receipt: Receipt | null): void {
    if (receipt === null) return;
    if (statements.insertReceipt.run({ partition, ...receipt }).changes !== 1) throw new Undone('key_taken');
  }

  function insertProfileVersion({ profile, headers }: ProfileWrite): void {
    statements.insertProfileVersion.run({ ...toProfileVersionRow(profile), headers });
  }

  function updateProfileHead(profile: Profile): void {
    must(statements.updateProfile.run(toProfileHeadRow(profile)).changes);
  }

  return {
    addSchedule({ schedule, pending, payload, profile, receipt }: ScheduleAddition): Written {
      return whole(() => {
        keep(schedule.partition, receipt);
        if (profile !== null) {
          const revision = statements.profileRevision.get(profile.partition, profile.id);
          if (revision !== profile.revision) throw new Undone('stale');
        }
        insertSchedule(schedule);
        if (payload !== null) statements.insertPayload.run(schedule.partition, schedule.id, payload);
        insertDelivery(pending);
      });
    },

    replaceSchedule({ schedule, pending, sweep, receipt }: ScheduleReplacement): Written {
      return whole(() => {
        keep(schedule.partition, receipt);
        const oldMetadata = statements.scheduleMetadata.get(schedule.partition, schedule.id);
        updateSchedule(schedule);
        if (oldMetadata !== JSON.stringify(schedule.metadata)) {
          deleteLabels(schedule, JSON.parse(String(oldMetadata)) as Labels);
          insertLabels(schedule);
        }
        if (pending !== null) updateDelivery(pending);
        if (sweep !== null) {
          statements.sweepDeliveries.run({
            partition: schedule.partition,
            schedule_id: schedule.id,
            statuses: JSON.stringify(sweep.from),
            untried_to: sweep.untriedTo,
            tried_to: sweep.triedTo,
            finalized_at: sweep.finalizedAt,
          });
        }
      });
    },

    addReplay({ delivery, receipt }: ReplayAddition): Written {
      return whole(() => {
        keep(delivery.partition, receipt);
        insertDelivery(delivery);
      });
    },

    addProfile(write: ProfileWrite): Written {
      return whole(() => {
        keep(write.profile.partition, write.receipt);
        statements.insertProfile.run(toProfileHeadRow(write.profile));
        insertProfileVersion(write);
      });
    },

    replaceProfile(write: ProfileWrite): Written {
      return whole(() => {
        keep(write.profile.partition, write.receipt);
        updateProfileHead(write.profile);
        insertProfileVersion(write);
      });
    },

    archiveProfile(profile: Profile): 'done' | 'stale' | 'in_use' {
      return whole<'stale' | 'in_use'>(() => {
        updateProfileHead(profile);
        if (statements.profileUse.get(profile.partition, profile.id) !== undefined)
          throw new Undone('in_use');
      });
    },

    addReceipt(given: { readonly partition: Partition; readonly receipt: Receipt }): 'done' | 'key_taken' {
      return whole<'key_taken'>(() => keep(given.partition, given.receipt));
    },

    claim(writes: readonly ClaimWrite[]): readonly ('done' | 'stale')[] {
      return writes.map(({ delivery, attempt, advanced }) =>
        whole<'stale'>(() => {
          updateDelivery(delivery);
          insertAttempt(attempt);
          if (advanced !== null) {
            updateSchedule(advanced.schedule);
            insertDelivery(advanced.next);
          }
        }),
      );
    },

    settle(writes: readonly SettleWrite[]): readonly ('done' | 'stale')[] {
      return writes.map(({ delivery, attempt, decidedUnder, completed }) =>
        whole<'stale'>(() => {
          const state = statements.scheduleState.get(delivery.partition, delivery.scheduleId);
          if (state !== decidedUnder) throw new Undone('stale');
          updateDelivery(delivery);
          closeAttempt(attempt);
          if (completed !== null) updateSchedule(completed);
        }),
      );
    },

    check(now: Instant): void {
      statements.beat.run(now);
    },
  };
}

function insertInto(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((c) => `:${c}`).join(', ')})`;
}

function assignments(columns: readonly string[]): string {
  return columns.map((column) => `${column} = :${column}`).join(', ');
}

const SCHEDULE_MUTABLE = [
  'state',
  'kind',
  'endpoint',
  'method',
  'fire_at',
  'cron',
  'timezone',
  'ttl',
  'retry_policy',
  'metadata',
  'pending_id',
  'last_occurrence',
  'updated_at',
  'ended_at',
  'revision',
];
const SCHEDULE_FIXED = [
  'partition',
  'id',
  'endpoint_id',
  'header_names',
  'jitter',
  'idempotency_key',
  'rate_limit',
  'created_at',
];
const DELIVERY_MUTABLE = [
  'status',
  'occurrence',
  'scheduled_for',
  'due_at',
  'ttl',
  'deadline',
  'attempt_count',
  'last_status_code',
  'error',
  'idempotency_key',
  'url',
  'method',
  'retry_policy',
  'claim_node',
  'claim_token',
  'finalized_at',
  'revision',
];
const DELIVERY_FIXED = [
  'partition',
  'id',
  'schedule_id',
  'replay_of',
  'endpoint_id',
  'endpoint_version',
  'created_at',
];
const ATTEMPT_OUTCOME = ['outcome', 'status_code', 'finished_at', 'egress_ms', 'error'];
const ATTEMPT_FIXED = ['partition', 'delivery_id', 'attempt_no', 'id', 'due_at', 'fired_at'];
const PROFILE_MUTABLE = ['version', 'archived', 'updated_at', 'revision'];
const PROFILE_FIXED = ['partition', 'id', 'created_at'];
const PROFILE_VERSION = [
  'partition',
  'endpoint_id',
  'version',
  'url',
  'method',
  'header_names',
  'headers',
  'timeout',
  'retry_policy',
  'retry_budget',
  'rate_limit',
  'breaker_policy',
  'metadata',
];

const GUARD = 'WHERE partition = :partition AND id = :id AND revision = :revision - 1';

function prepareStatements(db: Db) {
  return {
    savepoint: db.prepare('SAVEPOINT verb'),
    release: db.prepare('RELEASE verb'),
    undo: db.prepare('ROLLBACK TO verb'),
    insertSchedule: db.prepare(insertInto('schedules', [...SCHEDULE_FIXED, ...SCHEDULE_MUTABLE])),
    updateSchedule: db.prepare(`UPDATE schedules SET ${assignments(SCHEDULE_MUTABLE)} ${GUARD}`),
    scheduleState: db.prepare('SELECT state FROM schedules WHERE partition = ? AND id = ?').pluck(),
    scheduleMetadata: db.prepare('SELECT metadata FROM schedules WHERE partition = ? AND id = ?').pluck(),
    insertLabel: db.prepare(
      'INSERT OR IGNORE INTO schedule_labels (partition, digest, schedule_id) VALUES (?, ?, ?)',
    ),
    deleteLabel: db.prepare(
      'DELETE FROM schedule_labels WHERE partition = ? AND digest = ? AND schedule_id = ?',
    ),
    insertPayload: db.prepare('INSERT INTO payloads (partition, schedule_id, sealed) VALUES (?, ?, ?)'),
    insertDelivery: db.prepare(insertInto('deliveries', [...DELIVERY_FIXED, ...DELIVERY_MUTABLE])),
    updateDelivery: db.prepare(`UPDATE deliveries SET ${assignments(DELIVERY_MUTABLE)} ${GUARD}`),
    sweepDeliveries: db.prepare(
      `UPDATE deliveries INDEXED BY deliveries_pending
       SET status = CASE WHEN attempt_count = 0 THEN :untried_to ELSE :tried_to END,
           due_at = CASE WHEN :finalized_at IS NULL THEN due_at END,
           finalized_at = :finalized_at,
           revision = revision + 1
       WHERE partition = :partition AND schedule_id = :schedule_id
         AND status IN ('scheduled', 'retry_scheduled', 'paused')
         AND status IN (SELECT value FROM json_each(:statuses))`,
    ),
    insertAttempt: db.prepare(insertInto('attempts', [...ATTEMPT_FIXED, ...ATTEMPT_OUTCOME])),
    closeAttempt: db.prepare(
      `UPDATE attempts SET ${assignments(ATTEMPT_OUTCOME)}
       WHERE partition = :partition AND delivery_id = :delivery_id AND attempt_no = :attempt_no
         AND finished_at IS NULL`,
    ),
    insertReceipt: db.prepare(
      `INSERT INTO receipts (partition, key, fingerprint, status, body, created_at, expires_at)
       VALUES (:partition, :key, :fingerprint, :status, :body, :createdAt, :expiresAt)
       ON CONFLICT (partition, key) DO UPDATE SET
         fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body,
         created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE receipts.expires_at <= excluded.created_at`,
    ),
    insertProfile: db.prepare(insertInto('endpoints', [...PROFILE_FIXED, ...PROFILE_MUTABLE])),
    updateProfile: db.prepare(`UPDATE endpoints SET ${assignments(PROFILE_MUTABLE)} ${GUARD}`),
    insertProfileVersion: db.prepare(insertInto('endpoint_versions', PROFILE_VERSION)),
    profileRevision: db.prepare('SELECT revision FROM endpoints WHERE partition = ? AND id = ?').pluck(),
    profileUse: db
      .prepare(
        `SELECT 1 FROM schedules INDEXED BY schedules_using_endpoint
         WHERE partition = ? AND endpoint_id = ? AND endpoint_id IS NOT NULL
           AND state IN ('active', 'paused') LIMIT 1`,
      )
      .pluck(),
    beat: db.prepare(
      'INSERT INTO heartbeat (one, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
    ),
  };
}
