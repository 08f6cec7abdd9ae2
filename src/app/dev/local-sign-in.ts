/**
 * Opens the dashboard of `sched dev` without a password. The page asks for a session when it has none, and gets one of
 * the user `sched dev`, who is made on the first visit. Roles, CSRF tokens and the audit log work as for any user.
 *
 * Everybody who can send this request is an admin, so it must come straight from a browser on this machine:
 *
 * - The connection comes from loopback, and `Host` names loopback. Another site may let its own name resolve to
 *   loopback (DNS rebinding), and its requests carry that name.
 * - No proxy has passed the request on. A tunnel may rewrite `Host`, but it says whom it works for.
 * - It is a change from the dashboard's own page, which `session-guard.ts` checks for every route of this kind.
 *
 * Only `sched dev` has this route: `ServiceVariant` allows it nowhere else, and this file is imported nowhere else.
 */
import type { IncomingMessage } from 'node:http';
import { runAudited } from '#src/control/audit.ts';
import type { PeopleDependencies } from '#src/control/dependencies.ts';
import type { ClientAddress } from '#src/control/http/client-address.ts';
import { publicRoute } from '#src/control/http/route.ts';
import { LOCAL_SESSION, type LocalSignIn } from '#src/control/http/routes/sign-in.ts';
import { invite, newUser } from '#src/control/invitations.ts';
import { ControlRefusal } from '#src/control/refusal.ts';
import { isLoopbackHost } from '#src/domain/public-address.ts';
import { isAddressedToLoopback } from '#src/inbox/request-guard.ts';
import type { User } from '#src/ports/people-store.ts';

/** Nobody can choose this name or sign in with it, because names have no spaces. */
const LOCAL_USER = { name: 'sched dev', role: 'admin', projects: null } as const;

/** The headers that proxies and tunnels add. */
const FORWARDED = /^(forwarded|via|x-real-ip|x-forwarded-.+)$/i;

export const localSignIn: LocalSignIn = (dependencies, begin) =>
  publicRoute(LOCAL_SESSION, {
    check: (request) => {
      if (!isLocal(request)) throw new ControlRefusal('not_local');
    },
    handle: async (request) => {
      const user = await localUser(dependencies, request);
      const action = { ...actionOf(request), userId: user.id, action: 'session.begin' };
      return runAudited(dependencies, action, () => begin(request, user));
    },
  });

function isLocal(request: IncomingMessage): boolean {
  const names = request.rawHeaders.filter((_text, index) => index % 2 === 0);
  return (
    isLoopbackHost(request.socket.remoteAddress ?? '') &&
    isAddressedToLoopback(request) &&
    !names.some((name) => FORWARDED.test(name))
  );
}

/** Finds the user, or adds them as an invited person is added. */
async function localUser(dependencies: PeopleDependencies, request: ClientAddress): Promise<User> {
  const { people } = dependencies.store;
  const found = await people.findUserByName(LOCAL_USER.name);
  if (found !== null) return found;
  const { invitation } = await invite(dependencies, { ...LOCAL_USER, by: LOCAL_USER });
  const user = newUser(dependencies, { ...LOCAL_USER, passwordHash: dependencies.passwords.unmatched() });
  const action = { ...actionOf(request), userId: null, action: 'user.create' };
  const added = await runAudited(dependencies, action, () => people.acceptInvitation(invitation.hash, user));
  if (added === 'done') return user;
  // Another page was faster.
  await people.removeInvitation(invitation.id);
  return localUser(dependencies, request);
}

function actionOf({ address, peer }: ClientAddress) {
  const { name } = LOCAL_USER;
  return { actor: name, subject: name, address, peer };
}
