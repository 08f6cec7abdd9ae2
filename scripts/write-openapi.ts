/** Writes docs/openapi.json from the code. A test keeps the file current. */
import { writeFileSync } from 'node:fs';
import { openApiDocument } from '#src/api/contract/openapi.ts';

const path = new URL('../docs/openapi.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(openApiDocument(), null, 2)}\n`);
