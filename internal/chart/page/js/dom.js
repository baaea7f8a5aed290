// Elements of HTML and SVG.

export const element = id => document.getElementById(id);

// make returns a new element of HTML with properties and children.
export function make(kind, properties = {}, ...children) {
  const node = Object.assign(document.createElement(kind), properties);
  node.append(...children);
  return node;
}

// svg returns a new element of SVG with attributes and children.
export function svg(kind, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', kind);
  for (const [name, v] of Object.entries(attributes)) node.setAttribute(name, v);
  node.append(...children);
  return node;
}
