/**
 * Makes the document and its page in a thread that then ends. It takes a tenth of a second of processor time, in which the
 * service could send nothing.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { openApiDocument } from '#src/api/contract/openapi.ts';
import { type ReferencePageOptions, renderReference } from './page.ts';

export interface RenderedReference {
  readonly json: string;
  readonly html: string;
}

const document = openApiDocument();
const rendered: RenderedReference = {
  json: JSON.stringify(document),
  html: renderReference(document, workerData as ReferencePageOptions),
};
parentPort?.postMessage(rendered);
