/** The role and the projects of a user, for an invitation and for a change. */
import { useState } from 'preact/hooks';
import type { RoleName, UserInfo } from '#src/control/http/contract.ts';
import { Dialog, DialogEnd } from '../../components/dialog.tsx';
import { Checkbox, SelectField } from '../../components/field.tsx';
import { ROLE_LABELS, ROLES, session } from '../../session.ts';
import { useRequest } from '../../use-request.ts';

/** Null for the projects stands for all of them, also those that are created later. */
export type Access = Pick<UserInfo, 'role' | 'projects'>;

export function formatProjects(projects: readonly string[] | null): string {
  if (projects === null) return 'all';
  return projects.length === 0 ? 'none' : projects.join(', ');
}

export interface AccessFormProps {
  readonly title: string;
  readonly action: string;
  readonly before: Access;
  readonly note?: string;
  readonly onSubmit: (access: Access) => Promise<unknown>;
  readonly onClose: () => void;
}

export function AccessForm({ title, action, before, note, onSubmit, onClose }: AccessFormProps) {
  const [role, setRole] = useState<RoleName>(before.role);
  const [projects, setProjects] = useState<readonly string[] | null>(before.projects);
  // An admin can change their own access, so the page does not limit an admin to some projects.
  const allowed = role === 'admin' ? null : projects;
  const request = useRequest(() => onSubmit({ role, projects: allowed }));
  const who = session.value;
  const names = typeof who === 'string' ? [] : who.projects.map(({ name }) => name);
  const toggle = (name: string, isIncluded: boolean) =>
    setProjects(isIncluded ? [...(projects ?? []), name] : (projects ?? []).filter((one) => one !== name));
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          void request.run();
        }}
      >
        <SelectField
          label="Role"
          value={role}
          options={ROLES.map((value) => ({ value, label: ROLE_LABELS[value] }))}
          onValue={setRole}
        />
        <fieldset>
          <legend class="mb-1.5 font-medium">Projects</legend>
          <div class="space-y-1.5">
            <Checkbox
              label="All, including those created later"
              isChecked={allowed === null}
              disabled={role === 'admin'}
              onValue={(isAll) => setProjects(isAll ? null : [])}
            />
            {allowed === null
              ? null
              : names.map((name) => (
                  <Checkbox
                    key={name}
                    label={name}
                    isChecked={allowed.includes(name)}
                    onValue={(isIncluded) => toggle(name, isIncluded)}
                  />
                ))}
          </div>
        </fieldset>
        {note === undefined ? null : <p class="text-dim">{note}</p>}
        <DialogEnd
          error={request.error}
          isBusy={request.isBusy}
          disabled={allowed !== null && allowed.length === 0}
          action={action}
          onClose={onClose}
        />
      </form>
    </Dialog>
  );
}
