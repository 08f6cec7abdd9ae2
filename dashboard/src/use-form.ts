/** A form with its faults: those the page finds, then those the service does, each at its field. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api.ts';
import type { FieldFaults } from './model/schedule-form.ts';
import { useRequest } from './use-request.ts';

export interface FormState<F> {
  readonly form: F;
  readonly change: (form: F) => void;
  readonly faults: FieldFaults;
  /** A refusal that belongs to no field that is shown. */
  readonly error: ApiError | null;
  readonly isBusy: boolean;
  readonly submit: (event: Event) => void;
  readonly element: { current: HTMLFormElement | null };
}

export function useForm<F>(
  first: F,
  check: (form: F) => FieldFaults,
  send: (form: F) => Promise<unknown>,
): FormState<F> {
  const [form, setForm] = useState(first);
  const [found, setFound] = useState<FieldFaults>({});
  const element = useRef<HTMLFormElement>(null);
  const request = useRequest(() => send(form));
  const told = request.error;
  const faults = told === null || told.param === null ? found : { ...found, [told.param]: told.message };
  const marks = Object.keys(faults).join(' ');
  useEffect(() => {
    if (marks !== '') element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [marks, told]);
  return {
    form,
    change: (next) => {
      setForm(next);
      setFound({});
      request.clear();
    },
    faults,
    error: told,
    isBusy: request.isBusy,
    submit: (event) => {
      event.preventDefault();
      const wrong = check(form);
      setFound(wrong);
      if (Object.keys(wrong).length === 0) void request.run();
    },
    element,
  };
}
