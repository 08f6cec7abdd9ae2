/** The navigation: at the side on wide screens, at the bottom on phones. */
import { hrefTo, path } from '../router.ts';
import { hrefInProject, isDev, scope } from '../session.ts';
import { Icon, type IconName } from './icon.tsx';

interface Item {
  readonly page: string;
  readonly label: string;
  readonly icon: IconName;
}

export const NAV_ITEMS: readonly Item[] = [
  { page: '', label: 'Overview', icon: 'overview' },
  { page: 'schedules', label: 'Schedules', icon: 'schedules' },
  { page: 'deliveries', label: 'Deliveries', icon: 'deliveries' },
  { page: 'endpoints', label: 'Endpoints', icon: 'endpoints' },
  { page: 'upcoming', label: 'Upcoming', icon: 'clock' },
  { page: 'alerts', label: 'Alerts', icon: 'bell' },
];

/** The name of the current page. Null on a page without a project. */
function currentPage(): string | null {
  const [first, , , page = ''] = path.value.split('/');
  if (first === 'settings' || page === 'settings') return 'settings';
  // Bulk replays belong to the deliveries.
  if (page === 'replays') return 'deliveries';
  return first === 'p' ? page : null;
}

export function settingsHref(): string {
  return scope.value === null ? hrefTo('settings/account') : hrefInProject('settings/keys');
}

/** Pages of the service outside the dashboard. On phones they are in the user menu. */
export function outsideLinks(): readonly (readonly [href: string, label: string])[] {
  return [...(isDev.value ? ([['/inbox', 'Inbox']] as const) : []), ['/docs', 'API reference']];
}

export function Nav() {
  const current = currentPage();
  return (
    <nav aria-label="Main" class="nav">
      <ul class="flex md:flex-col md:gap-0.5">
        {NAV_ITEMS.map(({ page, label, icon }) => (
          <NavLink
            key={label}
            href={hrefInProject(page)}
            label={label}
            icon={icon}
            isCurrent={page === current}
          />
        ))}
        {/* On phones they are in the user menu, because there is no room for a seventh page. */}
        <NavLink
          href={settingsHref()}
          label="Settings"
          icon="settings"
          isCurrent={current === 'settings'}
          className="max-md:hidden"
        />
      </ul>
      <ul class="mt-3 hidden border-t border-line pt-3 md:block">
        {outsideLinks().map(([href, label]) => (
          <NavLink key={href} href={href} label={label} icon="right" isCurrent={false} />
        ))}
      </ul>
    </nav>
  );
}

function NavLink({
  href,
  label,
  icon,
  isCurrent,
  className = '',
}: {
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  readonly isCurrent: boolean;
  readonly className?: string;
}) {
  return (
    <li class={`min-w-0 flex-1 md:flex-none ${className}`}>
      <a href={href} aria-current={isCurrent ? 'page' : undefined} class="nav-link">
        <Icon name={icon} />
        {label}
      </a>
    </li>
  );
}
