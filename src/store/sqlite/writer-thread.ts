/**
 * The writing thread is the only writer of the service, so the engine's thread never waits for the disk. A message
 * is a list of verbs. Messages that arrive during a commit share the next one, and are answered together.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { decodeBatch, type EncodedBatch } from './batch-encoding.ts';
import { type Batch, Executor, type WriterData } from './executor.ts';

/** A batch with this many verbs is committed without waiting for more. */
const BATCH_MIN = 256;

type Message = EncodedBatch | 'close';

/** Takes the messages that have arrived, up to the first that is not a batch. */
function gather(port: MessagePort, first: EncodedBatch): { readonly batch: Batch; readonly closes: boolean } {
  const batch = [...decodeBatch(first)];
  while (batch.length < BATCH_MIN) {
    const more = receiveMessageOnPort(port);
    if (more === undefined) break;
    const message = more.message as Message;
    if (message === 'close') return { batch, closes: true };
    batch.push(...decodeBatch(message));
  }
  return { batch, closes: false };
}

if (parentPort !== null) {
  const port = parentPort;
  const executor = Executor.open(workerData as WriterData);
  const close = () => {
    executor.close();
    port.close();
  };
  port.on('message', (message: Message) => {
    if (message === 'close') return close();
    const { batch, closes } = gather(port, message);
    port.postMessage(executor.run(batch));
    if (closes) close();
  });
}
