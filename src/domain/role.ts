/** What a person may do in the dashboard. Each role may do all that the ones before it may. */
export const ROLES = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/**
 * A viewer looks. An operator also changes schedules, endpoints and deliveries. An admin also manages projects,
 * keys, secrets and people, and may see header values and bodies.
 */
export function mayAct(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
