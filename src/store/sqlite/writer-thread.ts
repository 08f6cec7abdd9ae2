/**
 * The writing thread: the only writer of the service, so that waiting for the disk never holds up the
 * thread that fires. A message is a list of verbs. What has come while one commit was made shares the next, and
 * is answered by one message.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { decodeBatch, type EncodedBatch } from './batch-encoding.ts';
import { type Batch, Executor, type WriterData } from './executor.ts';

/** With so many verbs a commit begins, whatever else is there. */
const BATCH_MIN = 256;

type Message = EncodedBatch | 'close';

/** What else has come, up to the first that is no batch. */
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
  port.postMessage('open');
}
