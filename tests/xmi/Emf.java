import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.eclipse.emf.common.util.URI;
import org.eclipse.emf.ecore.EAttribute;
import org.eclipse.emf.ecore.EObject;
import org.eclipse.emf.ecore.EPackage;
import org.eclipse.emf.ecore.EReference;
import org.eclipse.emf.ecore.EStructuralFeature;
import org.eclipse.emf.ecore.resource.Resource;
import org.eclipse.emf.ecore.resource.ResourceSet;
import org.eclipse.emf.ecore.resource.impl.ResourceSetImpl;
import org.eclipse.emf.ecore.util.EcoreUtil;
import org.eclipse.emf.ecore.util.FeatureMap;
import org.eclipse.emf.ecore.xmi.XMLResource;
import org.eclipse.emf.ecore.xmi.impl.EcoreResourceFactoryImpl;
import org.eclipse.emf.ecore.xmi.impl.XMIResourceFactoryImpl;

/**
 * Eclipse's own EMF, as a reader and writer of files. Each line on standard input is a job, its parts between tabs:
 * what to do, the .ecore files, a model, a file to write. Each gets a line in answer: ok, or what went wrong.
 */
public class Emf {
    public static void main(String[] arguments) throws IOException {
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String job = jobs.readLine(); job != null; job = jobs.readLine()) {
            String answer = "ok";
            try {
                run(job.split("\t"));
            } catch (Exception failure) {
                answer = String.valueOf(failure).replaceAll("\\s+", " ");
            }
            System.out.println(answer);
        }
    }

    private static void run(String[] job) throws IOException {
        ResourceSet files = new ResourceSetImpl();
        Map<String, Object> factories = files.getResourceFactoryRegistry().getExtensionToFactoryMap();
        factories.put("ecore", new EcoreResourceFactoryImpl());
        factories.put("*", new XMIResourceFactoryImpl());
        for (String metamodel : job[1].split(";")) {
            for (EObject top : files.getResource(URI.createFileURI(metamodel), true).getContents()) {
                register(files, (EPackage) top);
            }
        }
        Resource model = files.createResource(URI.createFileURI(job[2]));
        Map<Object, Object> options = new HashMap<>();
        if (job[2].endsWith(".zxmi")) {
            options.put(Resource.OPTION_ZIP, true);
        }
        model.load(options);
        EcoreUtil.resolveAll(model);
        if (job[0].equals("save")) {
            model.setURI(URI.createFileURI(job[3]));
            model.save(Map.of(XMLResource.OPTION_ENCODING, "UTF-8"));
        } else {
            Files.write(Path.of(job[3]), told(model), StandardCharsets.UTF_8);
        }
    }

    private static void register(ResourceSet files, EPackage metamodel) {
        String name = metamodel.getNsURI() == null ? metamodel.getName() : metamodel.getNsURI();
        files.getPackageRegistry().put(name, metamodel);
        for (EPackage inner : metamodel.getESubpackages()) {
            register(files, inner);
        }
    }

    /** A line for each object, in the order of the document: its class, its xmi:id, and all that is set. */
    private static List<String> told(Resource model) {
        Map<EObject, Integer> numbers = new IdentityHashMap<>();
        for (Iterator<EObject> all = model.getAllContents(); all.hasNext(); ) {
            numbers.put(all.next(), numbers.size());
        }
        List<String> lines = new ArrayList<>();
        for (Iterator<EObject> all = model.getAllContents(); all.hasNext(); ) {
            EObject one = all.next();
            StringBuilder line = new StringBuilder(one.eClass().getName());
            line.append(" in ").append(numbers.get(one.eContainer()));
            line.append(" id ").append(((XMLResource) model).getID(one));
            for (EStructuralFeature feature : one.eClass().getEAllStructuralFeatures()) {
                if (one.eIsSet(feature) && !feature.isDerived() && !feature.isTransient()) {
                    line.append(" | ").append(feature.getName()).append(" = ");
                    line.append(value(feature, one.eGet(feature), model, numbers));
                }
            }
            lines.add(line.toString().replace("\n", "\\n"));
        }
        return lines;
    }

    private static String value(
            EStructuralFeature feature, Object value, Resource model, Map<EObject, Integer> numbers) {
        if (value instanceof Collection<?> values) {
            List<String> each = new ArrayList<>();
            for (Object one : values) {
                each.add(value(feature, one, model, numbers));
            }
            return each.toString();
        }
        if (value instanceof FeatureMap.Entry entry) {
            EStructuralFeature kind = entry.getEStructuralFeature();
            return kind.getName() + ": " + value(kind, entry.getValue(), model, numbers);
        }
        if (feature instanceof EReference && value instanceof EObject target) {
            Integer number = numbers.get(target);
            return number != null ? "#" + number : String.valueOf(EcoreUtil.getURI(target).lastSegment())
                    + "#" + EcoreUtil.getURI(target).fragment();
        }
        return value == null ? "null" : EcoreUtil.convertToString(((EAttribute) feature).getEAttributeType(), value);
    }
}
