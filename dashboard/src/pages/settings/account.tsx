/** The user's own account: the password and the sessions. */
import { useState } from 'preact/hooks';
import type { Done, Listed, OpenSession } from '../../../../src/control/http/contract.ts';
import { post } from '../../api.ts';
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
import { hrefTo, navigate } from '../../router.ts';
import { session } from '../../session.ts';
import { useRequest } from '../../use-request.ts';
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

function ChangePassword({ name }: { readonly name: string }) {
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const request = useRequest(async () => {
    await post<Done>('password', { current, password });
    setCurrent('');
    setPassword('');
    toast('good', 'The password is changed. Your other sessions have ended.');
    await refreshLive();
  });
  const { error } = request;
  const at = (code: string) => (error?.code === code ? error.message : null);
  const isAtField = at('wrong_password') !== null || at('weak_password') !== null;
  return (
    <form
      class="max-w-sm space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        void request.run();
      }}
    >
      <input type="hidden" name="username" autocomplete="username" value={name} />
      <TextField
        label="Current password"
        type="password"
        value={current}
        onValue={setCurrent}
        autocomplete="current-password"
        required
        error={at('wrong_password')}
      />
      <NewPassword
        label="New password"
        name={name}
        value={password}
        onValue={setPassword}
        error={at('weak_password')}
      />
      {error === null || isAtField ? null : <ErrorNote error={error} />}
      <Button
        type="submit"
        kind="primary"
        isBusy={request.isBusy}
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
  const end = async () => {
    await post<Done>('logout-everywhere');
    session.value = 'none';
    navigate(hrefTo('login'));
  };
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
          onConfirm={end}
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
