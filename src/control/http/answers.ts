/**
 * The answer of each route below `/dashboard/api`, as a schema. Only tests load this file: they check every answer. The
 * type of a handler follows from it, so a route without an answer here does not compile.
 */
import { AttemptResponse, Delivery, Endpoint, Schedule } from '#src/api/contract/resources.ts';
import * as alerts from './alert-contract.ts';
import * as shown from './contract.ts';
import * as data from './data-contract.ts';

const { listed } = shown;

/** The answer of every route that concerns no single project. */
export const ANSWERS = {
  'GET whoami': shown.WhoAmI,
  'POST login': shown.SessionInfo,
  /** Only `sched dev` has it. */
  'POST local-session': shown.SessionInfo,
  'POST invitation/lookup': shown.InvitationSummary,
  'POST invitation': shown.SessionInfo,
  'GET sessions': listed(shown.OpenSession),
  'POST logout': shown.Done,
  'POST logout-everywhere': shown.Done,
  'POST password': shown.Done,
  'GET projects': listed(shown.ProjectInfo),
  'POST projects': shown.ProjectInfo,
  'GET users': listed(shown.UserInfo),
  'POST users/:id': shown.UserInfo,
  'POST users/:id/remove': shown.Done,
  'GET invitations': listed(shown.InvitationInfo),
  'POST invitations': shown.NewInvitation,
  'POST invitations/:id/remove': shown.Done,
  'GET audit': listed(shown.AuditLine),
  'GET about': shown.About,
} as const;

/** The answer of every route of a project, below `p/:project/:mode/`. The operations of /v1 have their own there. */
export const PROJECT_ANSWERS = {
  'GET keys': listed(shown.KeyInfo),
  'POST keys': shown.NewKey,
  'POST keys/:id/revoke': shown.Done,
  'GET secrets': listed(shown.SecretInfo),
  'POST secrets/rotate': listed(shown.SecretInfo),
  'POST secrets/:id/reveal': shown.SecretInfo,
  'GET endpoints/:id/secrets': listed(shown.EndpointSecretInfo),
  'POST endpoints/:id/secrets': listed(shown.EndpointSecretInfo),
  'POST endpoints/:id/secrets/rotate': listed(shown.EndpointSecretInfo),
  'POST endpoints/:id/secrets/remove': listed(shown.EndpointSecretInfo),
  'POST endpoints/:id/secrets/:secret/reveal': shown.EndpointSecretInfo,
  'GET overview': data.Overview,
  'GET upcoming': data.Upcoming,
  'GET search/schedules': data.scheduleSearchPage(Schedule),
  'GET search/deliveries': listed(data.listedDelivery(Delivery)),
  'POST preview': data.Preview,
  'GET schedules/:id/calendar': data.Calendar,
  'GET deliveries/:id/details': data.deliveryDetails(Delivery, Schedule),
  'GET attempts/:id/delivery': data.FoundDelivery,
  'GET destinations': listed(data.destination(Endpoint)),
  'POST destinations/close-breaker': shown.Done,
  'GET replays': listed(data.ReplayJobInfo),
  'POST replays': data.ReplayJobInfo,
  'GET replays/count': data.DeliveryCount,
  'GET replays/:id': data.ReplayJobInfo,
  'POST replays/:id/stop': data.ReplayJobInfo,
  'POST schedules/:id/reveal': data.Revealed,
  'POST endpoints/:id/reveal': data.Revealed,
  'POST deliveries/:id/reveal': AttemptResponse,
  'GET alerts/channels': listed(alerts.AlertChannelInfo),
  'POST alerts/channels': alerts.AlertChannelInfo,
  'PATCH alerts/channels/:id': alerts.AlertChannelInfo,
  'POST alerts/channels/:id/remove': shown.Done,
  'POST alerts/channels/:id/reveal': alerts.RevealedAlertUrl,
  'POST alerts/channels/:id/test': alerts.AlertMessageInfo,
  'GET alerts/messages/:id': alerts.AlertMessageInfo,
  'GET alerts/conditions': listed(alerts.AlertConditionInfo),
  'POST alerts/conditions': alerts.AlertConditionInfo,
  'PATCH alerts/conditions/:id': alerts.AlertConditionInfo,
  'POST alerts/conditions/:id/remove': shown.Done,
  'GET alerts/incidents': listed(alerts.AlertIncidentInfo),
  'GET alerts/incidents/:id': alerts.AlertIncidentInfo,
  'GET alerts/incidents/:id/messages': listed(alerts.AlertMessageInfo),
} as const;
