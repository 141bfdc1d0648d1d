// The OpenAPI document for people.

import { get } from "./api.js";
import { byId, el, table } from "./dom.js";

function kind(schema, document) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return schema.anyOf.map((one) => kind(one, document)).filter((k) => k !== "null").join(" or ");
  if (schema.enum) return schema.enum.join(" or ");
  if (schema.type === "array") return `list of ${kind(schema.items, document)}`;
  return schema.format ?? schema.type ?? "anything";
}

function parameters(route) {
  if (!route.parameters?.length) return null;
  const rows = route.parameters.map((one) => [
    one.name,
    one.in,
    kind(one.schema) + (one.required ? "" : ", optional"),
    one.description ?? "",
  ]);
  return table(["parameter", "in", "type", "meaning"], rows);
}

// A schema's fields, and those of the schemas it names, each once.
function fields(schema, document, seen = new Set()) {
  const name = schema?.$ref?.split("/").at(-1);
  if (!name || seen.has(name)) return [];
  seen.add(name);
  const whole = document.components.schemas[name];
  const rows = Object.entries(whole.properties ?? {}).map(([field, one]) => [
    field,
    kind(one) + (whole.required?.includes(field) ? "" : ", optional"),
    one.description ?? "",
  ]);
  const inner = Object.values(whole.properties ?? {}).flatMap((one) =>
    [one, one.items, one.items?.items].flatMap((part) => fields(part, document, seen)),
  );
  const title = el("p", { class: "quiet" }, el("code", {}, name), whole.description ? `: ${whole.description}` : "");
  return [title, table(["field", "type", "meaning"], rows), ...inner];
}

function section(path, method, route, document) {
  const body = route.requestBody?.content?.["application/json"]?.schema;
  const answer = Object.entries(route.responses).find(([status]) => status.startsWith("2"));
  return el(
    "section",
    { class: "route" },
    el("h2", {}, el("code", {}, `${method.toUpperCase()} ${path}`), ` ${route.summary}`),
    el("p", {}, route.description ?? ""),
    parameters(route),
    route.requestBody && !body ? el("p", {}, route.requestBody.description) : null,
    ...(body ? [el("h3", {}, "Body"), ...fields(body, document)] : []),
    el(
      "details",
      {},
      el("summary", {}, `Answer: ${answer[0]}, refusals: ${Object.keys(route.responses).filter((s) => s > "3").join(", ")}`),
      ...fields(answer[1].content?.["application/json"]?.schema, document),
    ),
  );
}

try {
  const document_ = await get("openapi.json");
  byId("routes").append(
    el("p", {}, document_.info.description),
    ...Object.entries(document_.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => section(path, method, route, document_)),
    ),
  );
} catch (error) {
  byId("trouble").textContent = error.message;
  byId("trouble").hidden = false;
}
