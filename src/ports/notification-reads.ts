/** The engine reads these to create and to send notifications. */
import type { Attempt, Delivery } from '#src/domain/delivery.ts';
import type { FiringProfile } from '#src/domain/endpoint-profile.ts';
import type { DeliveryId, EndpointId, ScheduleId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import type { Schedule } from '#src/domain/schedule.ts';
import type { KeptResponse } from './kept-response.ts';

/** The facts that a notification needs when it is created. */
export interface NotificationSource {
  /** The current version of the profile that is told. */
  readonly profile: FiringProfile;
  /** The size of the labels of the schedule. */
  readonly metadataBytes: number;
}

/** A delivery that ended, and what its notification quotes. */
export interface NotificationSubject {
  readonly delivery: Delivery;
  readonly schedule: Schedule;
  /** Its last attempts, in the order of `attemptNo`. */
  readonly attempts: readonly Attempt[];
  /** What is kept of its last answer. */
  readonly response: KeptResponse | null;
}

export interface NotificationReads {
  findNotificationSource(
    partition: Partition,
    endpointId: EndpointId,
    scheduleId: ScheduleId | null,
  ): Promise<NotificationSource | null>;
  /** Finds what a notification of this delivery tells, with at most so many attempts. The delivery has ended. */
  findNotificationSubject(
    partition: Partition,
    id: DeliveryId,
    attemptsMax: number,
  ): Promise<NotificationSubject | null>;
}
