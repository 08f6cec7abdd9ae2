/** The work of `sched key`. */
import { type Given, readControlSettings } from '#src/app/config.ts';
import { withControl } from '#src/app/control-session.ts';
import { type Answer, instantOr, table } from '#src/cli/terminal/output.ts';
import { createKey, listKeys, revokeKey } from '#src/control/keys.ts';
import { formatInstant } from '#src/domain/instant.ts';
import type { ApiKey } from '#src/ports/control-store.ts';
import { auditCommand } from './command-audit.ts';
import { modeOf, projectOf } from './service-options.ts';

export async function runCreate(given: Given): Promise<Answer> {
  const project = projectOf(given);
  const mode = modeOf(given);
  const { text, key } = await withControl(readControlSettings(given), (control) =>
    auditCommand(
      control,
      { action: 'key.create', project, mode },
      () => createKey(control, project, mode),
      (made) => made.key.id,
    ),
  );
  return {
    json: { ...jsonOf(key, project), key: text },
    text: `Key ${key.id} for mode ${mode} of project ${project} is created. Keep it, it is not shown again:\n\n  ${text}\n`,
  };
}

export async function runList(given: Given): Promise<Answer> {
  const project = projectOf(given);
  const all = await withControl(readControlSettings(given), (control) => listKeys(control, project));
  const rows = all.map((key) => [
    key.id,
    key.mode,
    `…${key.hint}`,
    formatInstant(key.createdAt),
    instantOr(key.lastUsedAt, '-'),
    instantOr(key.revokedAt, '-'),
  ]);
  return {
    json: all.map((key) => jsonOf(key, project)),
    text: table([['ID', 'MODE', 'KEY', 'CREATED', 'LAST USED', 'REVOKED'], ...rows]),
  };
}

export async function runRevoke(given: Given, id: string): Promise<Answer> {
  await withControl(readControlSettings(given), (control) =>
    auditCommand(control, { action: 'key.revoke', subject: id }, () => revokeKey(control, id)),
  );
  return { json: { id, revoked: true }, text: `Key ${id} is revoked.` };
}

function jsonOf(key: ApiKey, project: string) {
  return {
    id: key.id,
    project,
    mode: key.mode,
    hint: key.hint,
    created_at: formatInstant(key.createdAt),
    last_used_at: key.lastUsedAt === null ? null : formatInstant(key.lastUsedAt),
    revoked_at: key.revokedAt === null ? null : formatInstant(key.revokedAt),
  };
}
