/** The API keys of a project and mode. A key is shown once, when it is created. */
import { useState } from 'preact/hooks';
import type { Done, KeyInfo, Listed, NewKey } from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { CopyBlock } from '../../components/copy.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Instant, Relative } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { apiPath, hasRole, scope } from '../../session.ts';
import { useRequest } from '../../use-request.ts';
import { SettingsPage } from './settings-page.tsx';

export function KeysPage() {
  const live = useLive<Listed<KeyInfo>>(apiPath('keys'));
  const [created, setCreated] = useState<NewKey | null>(null);
  const [revoked, setRevoked] = useState<KeyInfo | null>(null);
  const creating = useRequest(async () => {
    setCreated(await post<NewKey>(apiPath('keys')));
    await refreshLive();
  });
  const create = async () => {
    if (!(await creating.run())) toast('bad', 'The key was not created. Try again.');
  };
  const mode = scope.value?.mode ?? 'test';
  return (
    <SettingsPage
      title="API keys"
      lead={
        <p>
          Programs call <code class="font-mono">/v1</code> with these keys. They are valid for the project{' '}
          <strong>{scope.value?.project}</strong> in {mode} mode. A key does not open the dashboard.
        </p>
      }
      actions={
        hasRole('admin') ? (
          <Button kind="primary" icon="plus" isBusy={creating.isBusy} onClick={() => void create()}>
            New key
          </Button>
        ) : undefined
      }
    >
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton />}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="schedules" title={`No API keys in ${mode} mode`}>
                <p>
                  Programs need a key to create schedules here.{' '}
                  {hasRole('admin') ? '' : 'Ask an admin for one.'}
                </p>
              </EmptyState>
            ) : (
              <Table caption="API keys" columns={columns(setRevoked)} rows={data} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      {created === null ? null : <NewKeyDialog created={created} onClose={() => setCreated(null)} />}
      {revoked === null ? null : <RevokeDialog revoked={revoked} onClose={() => setRevoked(null)} />}
    </SettingsPage>
  );
}

/** The service stores only the end of a key, so that keys can be told apart. */
function keyName({ hint }: KeyInfo): string {
  return `sk_${scope.value?.mode ?? 'test'}_…${hint}`;
}

function columns(onRevoke: (key: KeyInfo) => void): readonly Column<KeyInfo>[] {
  return [
    { heading: 'Key', isRowHeading: true, cell: (key) => <code class="font-mono">{keyName(key)}</code> },
    { heading: 'Created', cell: ({ created_at }) => <Instant at={created_at} style="date" /> },
    {
      heading: 'Last used',
      cell: ({ last_used_at }) =>
        last_used_at === null ? <span class="text-dim">never</span> : <Relative at={last_used_at} />,
    },
    {
      heading: 'State',
      cell: ({ revoked_at }) =>
        revoked_at === null ? (
          <Badge tone="good" icon="check">
            Valid
          </Badge>
        ) : (
          <span class="inline-flex flex-wrap items-center gap-1.5">
            <Badge tone="neutral" icon="stop">
              Revoked
            </Badge>
            <Instant at={revoked_at} style="date" />
          </span>
        ),
    },
    {
      heading: 'Actions',
      isActions: true,
      cell: (key) =>
        hasRole('admin') && key.revoked_at === null ? (
          <Button kind="quiet" label={`Revoke ${keyName(key)}`} onClick={() => onRevoke(key)}>
            Revoke…
          </Button>
        ) : null,
    },
  ];
}

function NewKeyDialog({ created, onClose }: { readonly created: NewKey; readonly onClose: () => void }) {
  return (
    <Dialog title="New API key" onClose={onClose} isKept>
      <div class="space-y-4">
        <p>
          Copy the key now and store it safely. <strong>It is not shown again</strong>, because the service
          stores only a hash.
        </p>
        <CopyBlock text={created.key} label="API key" />
        <div class="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function RevokeDialog({ revoked, onClose }: { readonly revoked: KeyInfo; readonly onClose: () => void }) {
  const revoke = async () => {
    await post<Done>(apiPath(`keys/${encodeURIComponent(revoked.id)}/revoke`));
    await refreshLive();
    toast('good', `${keyName(revoked)} is revoked.`);
  };
  return (
    <Confirm
      title="Revoke this key?"
      action="Revoke key"
      isDanger
      typed={revoked.hint}
      onConfirm={revoke}
      onClose={onClose}
    >
      <p>
        Requests with <code class="font-mono">{keyName(revoked)}</code> are refused within a second. This
        cannot be undone. Schedules that were created with it continue to fire.
      </p>
      <p class="text-dim">
        {revoked.last_used_at === null ? (
          'The key was never used.'
        ) : (
          <>
            The key was last used <Relative at={revoked.last_used_at} />.
          </>
        )}
      </p>
    </Confirm>
  );
}
