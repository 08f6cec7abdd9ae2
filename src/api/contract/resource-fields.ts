/** The forms of fields that several answers have. */
import { z } from 'zod';
import type { IdKind } from '#src/domain/id.ts';
import { DURATION_FORM, exampleId, INSTANT_ANSWER_FORM, idForm } from './forms.ts';

export function at(description: string, example = '2026-11-16T08:00:00.000Z') {
  return z
    .string()
    .regex(new RegExp(INSTANT_ANSWER_FORM.pattern))
    .meta({ ...INSTANT_ANSWER_FORM, description, example });
}

export function id(kind: IdKind, description: string, example = exampleId(kind)) {
  const form = idForm(kind);
  return z
    .string()
    .regex(new RegExp(form.pattern))
    .meta({ ...form, description, example });
}

export function duration(description: string, example: string) {
  return z.string().meta({ ...DURATION_FORM, description, example });
}

export function object<T extends string>(name: T) {
  return z.literal(name).meta({ description: `The type of this object, always \`${name}\`.` });
}
