/** The projects of the installation. Each is separate from the others. */
import { useState } from 'preact/hooks';
import type { Listed, ProjectInfo } from '../../../../src/control/http/contract.ts';
import { post, renewSession } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogEnd } from '../../components/dialog.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextField } from '../../components/field.tsx';
import { Instant } from '../../components/instant.tsx';
import { Card, Loaded } from '../../components/page.tsx';
import { TableSkeleton } from '../../components/skeleton.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { refreshLive, useLive } from '../../live.ts';
import { hasRole, hrefInProject, scope } from '../../session.ts';
import { useForm } from '../../use-form.ts';
import { SettingsPage } from './settings-page.tsx';

const COLUMNS: readonly Column<ProjectInfo>[] = [
  {
    heading: 'Project',
    isRowHeading: true,
    cell: ({ name }) => (
      <a
        class="link font-medium"
        href={hrefInProject('', { project: name, mode: scope.value?.mode ?? 'test' })}
      >
        {name}
      </a>
    ),
  },
  {
    heading: 'Id',
    cell: ({ id }) => <code class="font-mono text-sm text-dim">{id}</code>,
  },
  { heading: 'Created', cell: ({ created_at }) => <Instant at={created_at} style="date" /> },
];

export function ProjectsPage() {
  const live = useLive<Listed<ProjectInfo>>('projects');
  const [isMaking, setMaking] = useState(false);
  return (
    <SettingsPage
      title="Projects"
      lead="Each project has its own schedules, keys and secrets, in test and in live mode."
      actions={
        hasRole('admin') ? (
          <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
            New project
          </Button>
        ) : undefined
      }
    >
      <Card isFlush>
        <Loaded live={live} skeleton={<TableSkeleton />}>
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState icon="settings" title="No projects">
                <p>Create one to start.</p>
              </EmptyState>
            ) : (
              <Table caption="Projects" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
            )
          }
        </Loaded>
      </Card>
      {isMaking ? <NewProject onClose={() => setMaking(false)} /> : null}
    </SettingsPage>
  );
}

function NewProject({ onClose }: { readonly onClose: () => void }) {
  const send = async (name: string) => {
    const created = await post<ProjectInfo>('projects', { name: name.trim() });
    // The header lists the projects of the session.
    await renewSession();
    await refreshLive();
    toast('good', `${created.name} is created. Create its keys under API keys.`);
    onClose();
  };
  const {
    form: name,
    change,
    errors,
    error,
    isBusy,
    submit,
    element,
  } = useForm<string>('', send, () => ['name']);
  return (
    <Dialog title="New project" onClose={onClose}>
      <form ref={element} onSubmit={submit} class="space-y-4">
        <TextField
          label="Name"
          value={name}
          onValue={change}
          error={errors.name}
          required
          autoFocus
          autocomplete="off"
          hint="It is part of URLs and commands, and cannot be changed."
        />
        <DialogEnd
          error={error}
          isBusy={isBusy}
          disabled={name.trim() === ''}
          action="Create project"
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
