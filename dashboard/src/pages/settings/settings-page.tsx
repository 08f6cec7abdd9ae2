/** The frame of the settings, with tabs for those of the current project and for those of the installation. */
import type { ComponentChildren } from 'preact';
import { Page } from '../../components/page.tsx';
import { type TabLink, TabLinks } from '../../components/tabs.tsx';
import { hrefTo, path } from '../../router.ts';
import { hasRole, hrefInProject, scope } from '../../session.ts';

function tabs(): readonly TabLink[] {
  const here = hrefTo(path.value);
  const ofProject = scope.value === null ? [] : (['keys', 'secrets'] as const);
  const ofAll = (['account', 'people', 'projects', 'audit', 'about'] as const).filter(
    (name) => hasRole('admin') || (name !== 'people' && name !== 'audit'),
  );
  return [
    ...ofProject.map((name) => ({ href: hrefInProject(`settings/${name}`), label: LABELS[name] })),
    ...ofAll.map((name) => ({ href: hrefTo(`settings/${name}`), label: LABELS[name] })),
  ].map((tab) => ({ ...tab, isCurrent: tab.href === here }));
}

const LABELS = {
  keys: 'API keys',
  secrets: 'Signing secrets',
  account: 'Your account',
  people: 'People',
  projects: 'Projects',
  audit: 'Audit log',
  about: 'About and retention',
} as const;

export interface SettingsProps {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function SettingsPage({ title, lead, actions, children }: SettingsProps) {
  return (
    <>
      <TabLinks label="Settings" tabs={tabs()} />
      <Page
        title={title}
        {...(lead === undefined ? {} : { lead })}
        {...(actions === undefined ? {} : { actions })}
      >
        {children}
      </Page>
    </>
  );
}
