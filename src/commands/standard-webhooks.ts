/** Refuses Standard Webhooks for an endpoint profile while a secret that signs for it cannot be used for them. */
import { signersFrom } from '#src/domain/endpoint-secrets.ts';
import { Refusal } from '#src/domain/errors.ts';
import type { EndpointId } from '#src/domain/id.ts';
import type { Partition } from '#src/domain/project.ts';
import { endpointSecretContext, signingSecretContext } from '#src/domain/sealing-contexts.ts';
import { standardWebhooksKey } from '#src/domain/signing-secret.ts';
import { standardSecretText } from '#src/texts/secret-fault-text.ts';
import type { Commands } from './command.ts';

/** Every secret counts that signs now or will sign without a further change. A new endpoint profile has no id yet. */
export async function requireStandardSecrets(
  { store, vault, clock }: Pick<Commands, 'store' | 'vault' | 'clock'>,
  partition: Partition,
  endpointId: EndpointId | null,
): Promise<void> {
  const now = clock.now();
  const [projects, own] = await Promise.all([
    store.listSecrets(partition, now),
    endpointId === null ? [] : store.listEndpointSecrets(partition, endpointId, now),
  ]);
  for (const secret of signersFrom(projects, own, now)) {
    const isOwn = 'endpointId' in secret;
    const context = isOwn
      ? endpointSecretContext(partition, secret.endpointId, secret.id)
      : signingSecretContext(partition, secret.id);
    const text = Buffer.from(vault.open(context, secret.sealed)).toString('utf8');
    if (standardWebhooksKey(text) !== null) continue;
    const owner = isOwn ? 'endpoint profile' : 'project';
    throw new Refusal('invalid_signature', 'standard_webhooks', standardSecretText(owner, secret.expiresAt));
  }
}
