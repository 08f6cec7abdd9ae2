import type { Random } from '#src/ports/system.ts';

const NODE_NAME_BYTES = 8;

/** Of this life of this process: after a restart it is another node. */
export function nodeName(random: Random): string {
  return Buffer.from(random.bytes(NODE_NAME_BYTES)).toString('hex');
}
