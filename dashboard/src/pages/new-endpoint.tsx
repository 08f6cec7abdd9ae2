/** The form for a new endpoint profile. */
import type { Endpoint } from '../../../sdk/src/api-types.ts';
import { post } from '../api.ts';
import { Button, ButtonLink } from '../components/button.tsx';
import { EndpointFields } from '../components/endpoint-fields.tsx';
import { ErrorNote } from '../components/error.tsx';
import { Card, Page } from '../components/page.tsx';
import { toast } from '../components/toast.tsx';
import {
  type EndpointForm,
  endpointBody,
  endpointFields,
  NEW_ENDPOINT,
  validateEndpoint,
} from '../model/endpoint-form.ts';
import { navigate } from '../router.ts';
import { apiPath, hasRole, hrefInProject } from '../session.ts';
import { useForm } from '../use-form.ts';

async function create(form: EndpointForm): Promise<void> {
  const created = await post<Endpoint>(apiPath('endpoints'), endpointBody(form));
  toast('good', 'The endpoint profile is created.');
  navigate(hrefInProject(`endpoints/${created.id}`));
}

export function NewEndpointPage() {
  const { form, change, errors, error, isBusy, submit, element } = useForm(
    NEW_ENDPOINT,
    create,
    endpointFields,
    validateEndpoint,
  );
  if (!hasRole('operator')) {
    return (
      <Page title="New endpoint profile">
        <p class="text-dim">This needs the role operator. Ask an admin for it.</p>
      </Page>
    );
  }
  return (
    <Page title="New endpoint profile" lead="A destination with its policies, shared by schedules.">
      <form ref={element} onSubmit={submit} noValidate class="max-w-3xl space-y-4">
        <Card>
          <div class="pt-2">
            <EndpointFields form={form} change={change} errors={errors} headersBefore={null} />
          </div>
        </Card>
        {error === null ? null : <ErrorNote error={error} />}
        <div class="flex justify-end gap-2">
          <ButtonLink href={hrefInProject('endpoints')}>Cancel</ButtonLink>
          <Button type="submit" kind="primary" isBusy={isBusy}>
            Create endpoint profile
          </Button>
        </div>
      </form>
    </Page>
  );
}
