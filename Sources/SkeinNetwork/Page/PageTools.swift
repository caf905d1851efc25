/// The first part of a page's script: elements, and secrets that people type.
package enum PageTools {
    package static let text = #"""
        "use strict";
        const $ = id => document.getElementById(id);
        function fill(node, attributes, children) {
          for (const key in attributes) node.setAttribute(key, attributes[key]);
          node.append(...children);
          return node;
        }
        function tag(name, attributes, ...children) {
          return fill(document.createElement(name), attributes, children);
        }
        // A secret is kept for this tab alone, or until the page is closed.
        function remembered(name) {
          try { return sessionStorage.getItem(name); } catch { return null; }
        }
        function remember(name, secret) {
          try {
            if (secret) sessionStorage.setItem(name, secret);
            else sessionStorage.removeItem(name);
          } catch { /* until the page is closed */ }
        }
        // A header takes no others, and no secret has them.
        const isSecret = text => /^[!-~]+$/.test(text);
        """#
}
