/**
 * The writing thread: the only writer of the service, so that waiting for the disk never holds up the
 * thread that fires. A message is a batch of verbs, and is answered by one.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { type Batch, Executor, type WriterData } from './executor.ts';

if (parentPort !== null) {
  const port = parentPort;
  const executor = Executor.open(workerData as WriterData);
  port.on('message', (batch: Batch | 'close') => {
    if (batch === 'close') {
      executor.close();
      port.close();
      return;
    }
    port.postMessage(executor.run(batch));
  });
  port.postMessage('open');
}
