/**
 * Composes the bodies of notifications. Nothing of them is stored: they quote the delivery that ended, its attempts and
 * its schedule, which retention keeps until the notification has ended.
 */
import type { Delivery } from '#src/domain/delivery.ts';
import type { DeliveryId } from '#src/domain/id.ts';
import { NOTIFIED_ATTEMPTS_MAX } from '#src/domain/notification.ts';
import type { Mode, Partition } from '#src/domain/project.ts';
import { RecentCache } from '#src/domain/recent-cache.ts';
import { responseContext } from '#src/domain/sealing-contexts.ts';
import type { EngineDependencies } from '#src/engine/dependencies.ts';
import type { NotificationSubject } from '#src/ports/notification-reads.ts';
import type { NotifiedResponse } from '#src/ports/notifications.ts';

const MODES_MAX = 1_000;

type Dependencies = Pick<EngineDependencies, 'store' | 'vault' | 'log' | 'composeNotification'>;

export class NotificationBodies {
  readonly #dependencies: Dependencies;
  /** The mode of a partition never changes. */
  readonly #modes = new RecentCache<Partition, Mode>(MODES_MAX);

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Returns the bodies of those that are notifications and can be composed. Rejects while the store is away. */
  async of(deliveries: readonly Delivery[]): Promise<ReadonlyMap<DeliveryId, Uint8Array>> {
    const bodies = new Map<DeliveryId, Uint8Array>();
    await Promise.all(
      deliveries.map(async (delivery) => {
        const body = await this.#compose(delivery);
        if (body !== null) bodies.set(delivery.id, Buffer.from(body));
      }),
    );
    return bodies;
  }

  async #compose(notification: Delivery): Promise<string | null> {
    const { store, composeNotification } = this.#dependencies;
    const { partition, notificationOf } = notification;
    if (notificationOf === null) return null;
    const [mode, subject] = await Promise.all([
      this.#modeOf(partition),
      store.findNotificationSubject(partition, notificationOf, NOTIFIED_ATTEMPTS_MAX),
    ]);
    if (mode === null || subject === null) return null;
    const response = this.#opened(subject);
    return composeNotification({ ...subject, notification, mode, response });
  }

  async #modeOf(partition: Partition): Promise<Mode | null> {
    const known = this.#modes.get(partition);
    if (known !== undefined) return known;
    const mode = await this.#dependencies.store.findMode(partition);
    if (mode !== null) this.#modes.set(partition, mode);
    return mode;
  }

  /** Decrypts what is kept of the last answer. An answer that cannot be decrypted is left out. */
  #opened({ delivery, response }: NotificationSubject): NotifiedResponse | null {
    if (response === null) return null;
    const { vault, log } = this.#dependencies;
    const { partition, id, attemptCount } = delivery;
    const { statusCode, isTruncated, sealed } = response;
    try {
      const bytes = vault.open(responseContext(partition, id, attemptCount), sealed);
      return { statusCode, isTruncated, bytes };
    } catch (error) {
      log.error({ delivery: id, error: String(error) }, 'a kept answer could not be decrypted');
      return null;
    }
  }
}
