/** What somebody may do and where: the same question for an invitation and for a change. */
import { useState } from 'preact/hooks';
import type { RoleName } from '#src/control/http/contract.ts';
import { Dialog, DialogEnd } from '../../components/dialog.tsx';
import { Checkbox, SelectField } from '../../components/field.tsx';
import { session } from '../../session.ts';
import { useRequest } from '../../use-request.ts';

export interface Access {
  readonly role: RoleName;
  /** Names; null: every project, also those made later. */
  readonly projects: readonly string[] | null;
}

const ROLES = [
  { value: 'viewer', label: 'Viewer: looks' },
  { value: 'operator', label: 'Operator: also changes schedules, endpoints and deliveries' },
  { value: 'admin', label: 'Admin: does everything' },
] as const;

export function formatProjects(projects: readonly string[] | null): string {
  if (projects === null) return 'all';
  return projects.length === 0 ? 'none' : projects.join(', ');
}

export interface AccessFormProps {
  readonly title: string;
  readonly action: string;
  readonly before: Access;
  readonly note?: string;
  readonly onSubmit: (standing: Access) => Promise<unknown>;
  readonly onClose: () => void;
}

export function AccessForm({ title, action, before, note, onSubmit, onClose }: AccessFormProps) {
  const [role, setRole] = useState<RoleName>(before.role);
  const [projects, setProjects] = useState<readonly string[] | null>(before.projects);
  // An admin could let themselves in anywhere, so there is no such thing as one for some projects.
  const reach = role === 'admin' ? null : projects;
  const request = useRequest(() => onSubmit({ role, projects: reach }));
  const who = session.value;
  const names = typeof who === 'string' ? [] : who.projects.map(({ name }) => name);
  const toggle = (name: string, isIn: boolean) =>
    setProjects(isIn ? [...(projects ?? []), name] : (projects ?? []).filter((one) => one !== name));
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void request.run();
        }}
      >
        <SelectField label="Role" value={role} options={ROLES} onValue={setRole} />
        <fieldset>
          <legend class="mb-1.5 font-medium">Projects</legend>
          <div class="space-y-1.5">
            <Checkbox
              label="All, also those made later"
              isChecked={reach === null}
              disabled={role === 'admin'}
              onValue={(isAll) => setProjects(isAll ? null : [])}
            />
            {reach === null
              ? null
              : names.map((name) => (
                  <Checkbox
                    key={name}
                    label={name}
                    isChecked={reach.includes(name)}
                    onValue={(isIn) => toggle(name, isIn)}
                  />
                ))}
          </div>
        </fieldset>
        {note === undefined ? null : <p class="text-dim">{note}</p>}
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          disabled={reach !== null && reach.length === 0}
          action={action}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
