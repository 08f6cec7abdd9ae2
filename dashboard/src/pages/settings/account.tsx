/** The user's own account: the password and the sessions. */
import { useState } from 'preact/hooks';
import type { Done, Listed, OpenSession } from '../../../../src/control/http/contract.ts';
import { post, signOut } from '../../api.ts';
import { browserName } from '../../browser-name.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { ErrorNote } from '../../components/error.tsx';
import { TextField } from '../../components/field.tsx';
import { Instant, Relative } from '../../components/instant.tsx';
import { Card, DetailList, Loaded } from '../../components/page.tsx';
import { NewPassword } from '../../components/password-field.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { countCharacters, PASSWORD_CHARACTERS_MIN } from '../../password.ts';
import { session } from '../../session.ts';
import { useForm } from '../../use-form.ts';
import { SettingsPage } from './settings-page.tsx';

/** The user whom `sched dev` signs in by itself. */
const LOCAL_USER = 'sched dev';

export function AccountPage() {
  const who = session.value;
  if (typeof who === 'string') return null;
  return (
    <SettingsPage title="Your account">
      <div class="grid items-start gap-4 lg:grid-cols-2">
        <Card title="You">
          <DetailList
            items={[
              ['Name', who.user.name],
              ['Role', who.user.role],
              ['Projects', who.projects.map(({ name }) => name).join(', ') || 'none'],
              ['Signed in until', <Instant key="until" at={who.expires_at} style="minute" />],
            ]}
          />
        </Card>
        <Card title="Password">
          {who.user.name === LOCAL_USER ? (
            <p class="text-dim">This user of sched dev has no password.</p>
          ) : (
            <ChangePassword name={who.user.name} />
          )}
        </Card>
        <div class="lg:col-span-2">
          <Sessions />
        </div>
      </div>
    </SettingsPage>
  );
}

const NO_PASSWORDS = { current: '', password: '' };

function ChangePassword({ name }: { readonly name: string }) {
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    NO_PASSWORDS,
    async (passwords) => {
      await post<Done>('password', passwords);
      change(NO_PASSWORDS);
      toast('good', 'The password is changed. Your other sessions have ended.');
      await refreshLive();
    },
    Object.keys,
  );
  const { current, password } = form;
  return (
    <form ref={element} onSubmit={submit} class="max-w-sm space-y-4">
      <input type="hidden" name="username" autocomplete="username" value={name} />
      <TextField
        label="Current password"
        type="password"
        value={current}
        onValue={(text) => change({ ...form, current: text })}
        autocomplete="current-password"
        required
        error={errors.current}
      />
      <NewPassword
        label="New password"
        name={name}
        value={password}
        onValue={(text) => change({ ...form, password: text })}
        error={errors.password}
      />
      {error === null ? null : <ErrorNote error={error} />}
      <Button
        type="submit"
        kind="primary"
        isBusy={isBusy}
        disabled={current === '' || countCharacters(password) < PASSWORD_CHARACTERS_MIN}
      >
        Change password
      </Button>
    </form>
  );
}

const COLUMNS: readonly Column<OpenSession>[] = [
  {
    heading: 'Browser',
    isRowHeading: true,
    cell: ({ agent, is_this }) => (
      <span class="inline-flex flex-wrap items-center gap-2">
        <span title={agent}>{browserName(agent)}</span>
        {is_this ? (
          <Badge tone="accent" icon="dot">
            This session
          </Badge>
        ) : null}
      </span>
    ),
  },
  { heading: 'IP address', cell: ({ address }) => <span class="font-mono text-sm">{address}</span> },
  { heading: 'Signed in', cell: ({ created_at }) => <Instant at={created_at} style="minute" /> },
  { heading: 'Last seen', cell: ({ seen_at }) => <Relative at={seen_at} /> },
];

function Sessions() {
  const live = useLive<Listed<OpenSession>>('sessions');
  const [isEnding, setEnding] = useState(false);
  return (
    <Card
      title="Sessions"
      isFlush
      actions={
        <Button kind="danger" onClick={() => setEnding(true)}>
          Sign out everywhere…
        </Button>
      }
    >
      <Loaded live={live} skeleton={<TableSkeleton />}>
        {({ data }) => (
          <Table caption="Open sessions" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
        )}
      </Loaded>
      {isEnding ? (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          isDanger
          onConfirm={() => signOut('logout-everywhere')}
          onClose={() => setEnding(false)}
        >
          <p>
            All your sessions end at once, including this one. If you lost a device, change your password
            next.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}
