/** Writes sdk/src/api-types.ts from docs/openapi.json. A test keeps the file current. */
import { readFileSync, writeFileSync } from 'node:fs';
import { type ApiDocument, sdkTypes } from './sdk-types.ts';

const document = readFileSync(new URL('../docs/openapi.json', import.meta.url), 'utf8');
const path = new URL('../sdk/src/api-types.ts', import.meta.url);
writeFileSync(path, sdkTypes(JSON.parse(document) as ApiDocument));
