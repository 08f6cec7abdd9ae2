import type { OpenApiDocument } from './contract/openapi.ts';

export function renderReference(document: OpenApiDocument): string {
  return `<!doctype html><title>${document.info.title}</title>`;
}
